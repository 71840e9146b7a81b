/* SPDX-License-Identifier: MIT
 * Vulkan's loader, found when it is asked for: a program with Halo inside starts on machines that have none. */
#include "runtime/vulkan.h"

#include "runtime/message.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

static bool open_library(vulkan_instance *v, halo_message *error)
{
    static const char *const names[] = {"libvulkan.so.1", "libvulkan.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !v->library; i++)
        v->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!v->library)
        return message_fail(error, "this machine has no Vulkan: %s isn't there (on Debian: apt install libvulkan1 mesa-vulkan-drivers)",
                            names[0]);
    *(void **)&v->find = dlsym(v->library, "vkGetInstanceProcAddr");
    if (!v->find)
        return message_fail(error, "%s has no vkGetInstanceProcAddr", names[0]);
    v->CreateInstance = (PFN_vkCreateInstance)v->find(NULL, "vkCreateInstance");
    v->EnumerateInstanceLayerProperties =
        (PFN_vkEnumerateInstanceLayerProperties)v->find(NULL, "vkEnumerateInstanceLayerProperties");
    PFN_vkEnumerateInstanceVersion version_of = (PFN_vkEnumerateInstanceVersion)v->find(NULL, "vkEnumerateInstanceVersion");
    uint32_t version = 0;
    if (!v->CreateInstance || !v->EnumerateInstanceLayerProperties || !version_of || version_of(&version) != VK_SUCCESS ||
        version < VK_API_VERSION_1_1)
        return message_fail(error, "this machine's Vulkan is older than 1.1");
    return true;
}

static bool find_functions(vulkan_instance *v, halo_message *error)
{
#define GLOBAL(name)
#define DEVICE(name)
#define INSTANCE(name)                                                                                                             \
    v->name = (PFN_vk##name)v->find(v->handle, "vk" #name);                                                                        \
    if (!v->name)                                                                                                                  \
        return message_fail(error, "this machine's Vulkan has no vk" #name);
#include "runtime/vulkan_functions.def"
#undef GLOBAL
#undef DEVICE
#undef INSTANCE
    return true;
}

/* ---- what the validation layer says -------------------------------------------------------------- */

static bool has_validation(const vulkan_instance *v)
{
    uint32_t n = 0;
    v->EnumerateInstanceLayerProperties(&n, NULL);
    VkLayerProperties *layers = calloc(n + 1, sizeof *layers);
    bool found = false;
    if (layers && v->EnumerateInstanceLayerProperties(&n, layers) == VK_SUCCESS)
        for (uint32_t i = 0; i < n; i++)
            found |= strcmp(layers[i].layerName, VALIDATION_LAYER) == 0;
    free(layers);
    return found;
}

static VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                               const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity, (void)types;
    const halo_device_options *o = user;
    o->validation(o->validation_user, data->pMessage);
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_for(const halo_device_options *o)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear, .pUserData = (void *)o};
}

/* ---- life ------------------------------------------------------------------------------------------ */

static bool create(vulkan_instance *v, const halo_device_options *o, halo_message *error)
{
    bool validates = o && o->validation;
    if (validates && !has_validation(v))
        return message_fail(error, "Vulkan's validation layer isn't there (on Debian: apt install vulkan-validationlayers)");
    static const char *const layers[] = {VALIDATION_LAYER}, *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkApplicationInfo about = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "halo",
                               .apiVersion = VK_API_VERSION_1_1};
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_for(o);
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = validates ? &messenger : NULL,
                                 .pApplicationInfo = &about, .enabledLayerCount = validates, .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validates, .ppEnabledExtensionNames = extensions};
    VkResult result = v->CreateInstance(&info, NULL, &v->handle);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return message_fail(error, "this machine has no Vulkan driver (on Debian: apt install mesa-vulkan-drivers)");
    if (result != VK_SUCCESS)
        return message_fail(error, "Vulkan doesn't start (vkCreateInstance: %d)", result);
    if (!validates)
        return true;
    PFN_vkCreateDebugUtilsMessengerEXT add =
        (PFN_vkCreateDebugUtilsMessengerEXT)v->find(v->handle, "vkCreateDebugUtilsMessengerEXT");
    if (!add || add(v->handle, &messenger, NULL, &v->messenger) != VK_SUCCESS)
        return message_fail(error, "Vulkan's validation layer can't be heard");
    return true;
}

bool vulkan_instance_open(vulkan_instance *v, const halo_device_options *o, halo_message *error)
{
    *v = (vulkan_instance){0};
    return open_library(v, error) && create(v, o, error) && find_functions(v, error);
}

void vulkan_instance_close(vulkan_instance *v)
{
    if (v->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT remove =
            (PFN_vkDestroyDebugUtilsMessengerEXT)v->find(v->handle, "vkDestroyDebugUtilsMessengerEXT");
        remove(v->handle, v->messenger, NULL);
    }
    /* Not by the function that was found on opening: that may have ended before it. */
    PFN_vkDestroyInstance destroy = v->handle ? (PFN_vkDestroyInstance)v->find(v->handle, "vkDestroyInstance") : NULL;
    if (destroy)
        destroy(v->handle, NULL);
    if (v->library)
        dlclose(v->library);
    *v = (vulkan_instance){0};
}
